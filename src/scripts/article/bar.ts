/** The story that the tools belong to, and the place where they say what they have done. */

export interface Story {
  readonly id: number;
  readonly title: string;
  /** Its address without whatever a link to it carried. */
  readonly url: string;
}

const bar = () => document.querySelector<HTMLElement>('[data-tools]');

export function storyOf(): Story {
  const { tools = '', title = '' } = bar()?.dataset ?? {};
  return { id: Number(tools), title, url: location.origin + location.pathname };
}

/** Says a sentence beneath the tools, where it is seen and heard. */
export function say(sentence: string): void {
  const said = bar()?.querySelector<HTMLElement>('[role="status"]');
  if (said) said.textContent = sentence;
}

/** Shows whether the story is saved. */
export function showSaved(saved: boolean): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-tool="save"]')) {
    button.ariaPressed = String(saved);
    button.dataset.saved = saved ? 'yes' : 'no';
    const word = button.querySelector('span');
    if (word) word.textContent = saved ? 'Saved' : 'Save';
  }
}
