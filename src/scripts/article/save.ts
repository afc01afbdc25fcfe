/** Saves a story for later, or takes it off the shelf. Whoever is not signed in is asked to, and it is saved then. */
import { saveArticle, unsaveArticle } from '../../lib/saved/client.ts';
import { $session } from '../../stores/session.ts';
import { openAuthPopup } from '../../stores/ui.ts';
import { say, showSaved, storyOf, troubleWords } from './bar.ts';

let busy = false;

export async function toggleSaved(button: HTMLButtonElement): Promise<void> {
  if (busy) return;
  busy = true;
  try {
    if (button.ariaPressed === 'true') await takeOff();
    else await save(button);
  } finally {
    busy = false;
  }
}

async function takeOff(): Promise<void> {
  const answer = await unsaveArticle(storyOf().id);
  if (answer.ok) showSaved(false);
  say(answer.ok ? 'Taken off your saved stories.' : troubleWords(answer.message));
}

async function save(button: HTMLButtonElement): Promise<void> {
  const answer = await saveArticle(storyOf().id);
  if (answer.ok) {
    showSaved(true);
    say('Saved. It is in your account under “Saved”.');
  } else if (answer.status === 401) askToSignIn(button);
  else say(troubleWords(answer.message));
}

/** The site remembers what was wanted, too: for whoever signs in by a link from a mail, in another tab. */
function askToSignIn(button: HTMLButtonElement): void {
  if (!document.querySelector('[data-popups]')) {
    button.form?.submit();
    return;
  }
  openAuthPopup({ heading: 'Save this story for later' });
  const stop = $session.listen(({ isAuthenticated }) => {
    if (!isAuthenticated) return;
    stop();
    void save(button);
  });
}
