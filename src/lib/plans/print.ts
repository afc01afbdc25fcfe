/** Whether the printed paper comes with a subscription (spec section 4: its price is among the known print-plan prices). */
import { isLive } from '../billing/status.ts';
import type { Subscription } from '../billing/wire.ts';

/** What has ended, or never began, brings no paper; what is late or paused is still to be delivered somewhere. */
export const bringsPaper = (subscription: Pick<Subscription, 'print' | 'status'> | null | undefined): boolean =>
  subscription?.print === true && isLive(subscription);
