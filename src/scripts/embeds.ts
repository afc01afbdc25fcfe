/**
 * Click to load: players and posts of other sites are placeholders that name the site. Nothing is requested from it before the reader
 * presses the button; without JavaScript they are links.
 *
 * A placeholder: `<figure class="embed" data-embed-src data-embed-provider data-embed-title><a href>…</a></figure>`.
 */

/**
 * A frame for another site's player. It may run scripts, keep its own origin, which is never ours, and open a window; it may not
 * navigate this page.
 *
 * @param title what a screen reader calls it
 */
export function frame(src: string, title: string): HTMLIFrameElement {
  const element = document.createElement('iframe');
  element.src = src;
  element.title = title;
  element.tabIndex = 0;
  element.allow = 'autoplay; encrypted-media; fullscreen; picture-in-picture';
  element.allowFullscreen = true;
  element.referrerPolicy = 'strict-origin-when-cross-origin';
  const own = new URL(src, location.href).origin === location.origin;
  element.setAttribute(
    'sandbox',
    `allow-scripts allow-forms allow-popups allow-popups-to-escape-sandbox allow-presentation${own ? '' : ' allow-same-origin'}`,
  );
  return element;
}

const verbs: Readonly<Record<string, string>> = {
  youtube: 'Play the video from',
  vimeo: 'Play the video from',
  spotify: 'Listen on',
  soundcloud: 'Listen on',
};

/** Puts the button into every placeholder of a part of the page. Call it once for content that is added later. */
export function prepareEmbeds(part: ParentNode): void {
  for (const shell of part.querySelectorAll<HTMLElement>('.embed[data-embed-src]')) {
    const { embedSrc: src, embedProvider: provider = '', embedTitle: title = '' } = shell.dataset;
    const link = shell.querySelector('a');
    if (!src || !link) continue;

    const button = document.createElement('button');
    button.className = 'embed-load';
    button.textContent = `${verbs[provider.toLowerCase()] ?? 'Show the content from'} ${provider || new URL(src).hostname}`;
    const note = document.createElement('small');
    note.className = 'embed-note';
    note.textContent = 'Nothing is sent there until you press the button.';
    link.before(button, note);
    shell.classList.add('embed-ready');

    button.addEventListener('click', () => {
      const element = frame(src, title || link.textContent || `Content from ${provider}`);
      button.replaceWith(element);
      note.remove();
      shell.classList.add('embed-loaded');
      element.focus();
    });
  }
}

prepareEmbeds(document);
