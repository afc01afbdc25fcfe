/** The sign-in page's panel. The server renders a form that works without JavaScript; once hydrated, the same steps happen in place. */
import type { Provider } from '../../lib/accounts/service.ts';
import { SignInPanel } from './SignInPanel.tsx';
import { useFlow } from './use-flow.ts';

interface Props {
  providers: readonly Provider[];
  /** Path on this site to go to in the end. */
  returnTo: string;
  /** Address in the field at first. */
  email?: string | undefined;
  /** What was wrong, as a sentence. */
  problem?: string | undefined;
}

export default function SignIn({ providers, returnTo, email = '', problem }: Props) {
  const flow = useFlow({
    redirect: returnTo,
    surface: 'page',
    initial: { email, error: problem === undefined ? null : { where: 'email', text: problem } },
    onSignedIn: () => location.assign(returnTo),
  });
  return <SignInPanel flow={flow} providers={providers} returnTo={returnTo} />;
}
