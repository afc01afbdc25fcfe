/** Removes a story from a reader's list in place, and puts it back on request. Without a script the forms post. */
import { failureText } from '../lib/article/messages.ts';
import { forgetReading, noteReading, saveArticle, unsaveArticle } from '../lib/saved/client.ts';

const calls = {
  saved: { remove: unsaveArticle, undo: saveArticle },
  history: { remove: forgetReading, undo: noteReading },
} as const;

function line(kind: 'gone' | 'trouble', words: string): HTMLParagraphElement {
  const paragraph = document.createElement('p');
  paragraph.className = kind;
  paragraph.setAttribute('role', kind === 'gone' ? 'status' : 'alert');
  paragraph.textContent = words;
  return paragraph;
}

async function remove(form: HTMLFormElement, item: HTMLElement, list: keyof typeof calls): Promise<void> {
  const id = Number(new FormData(form).get('article'));
  const title = item.querySelector('h4')?.textContent?.trim() ?? '';
  item.querySelector('.trouble')?.remove();
  item.ariaBusy = 'true';
  const answer = await calls[list].remove(id);
  item.ariaBusy = 'false';
  if (!answer.ok) {
    item.append(line('trouble', failureText(answer.message)));
    return;
  }
  const parts = [...item.children];
  const gone = line('gone', `Removed “${title}”.`);
  const undo = document.createElement('button');
  undo.type = 'button';
  undo.className = 'button button-plain';
  undo.textContent = 'Undo';
  gone.append(' ', undo);
  item.replaceChildren(gone);
  undo.focus();
  undo.addEventListener('click', async () => {
    item.ariaBusy = 'true';
    const back = await calls[list].undo(id);
    item.ariaBusy = 'false';
    if (back.ok) {
      item.replaceChildren(...parts);
      form.querySelector('button')?.focus();
    } else {
      item.querySelector('.trouble')?.remove();
      item.append(line('trouble', failureText(back.message)));
    }
  });
}

for (const list of document.querySelectorAll<HTMLElement>('[data-list]')) {
  list.addEventListener('submit', (event) => {
    const form = event.target as HTMLFormElement;
    const item = form.closest('li');
    if (!item || item.ariaBusy === 'true') return event.preventDefault();
    event.preventDefault();
    void remove(form, item, list.dataset.list as keyof typeof calls);
  });
}
