/** A video's poster turns into YouTube's player when it is pressed; before that, nothing is requested from YouTube. */
import { frame } from './frame.ts';

// Without JavaScript, and with a modifier key, the poster of a video is a link to it.
for (const poster of document.querySelectorAll<HTMLAnchorElement>('a[data-player]')) {
  poster.addEventListener('click', (event) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey || event.button !== 0) return;
    event.preventDefault();
    const id = encodeURIComponent(poster.dataset.player ?? '');
    const player = frame(
      `https://www.youtube-nocookie.com/embed/${id}?autoplay=1&rel=0&playsinline=1`,
      poster.dataset.title ?? 'Video',
    );
    player.className = 'player-frame';
    poster.replaceWith(player);
    player.focus();
  });
}
