/** The sandbox's Stripe in a process of its own, so that its work is not counted as ours. Prints its access when it listens. */
import { startStripe } from '../../sandbox/stripe/stripe.ts';

const { access } = await startStripe({});
process.stdout.write(`${JSON.stringify(access)}\n`);
