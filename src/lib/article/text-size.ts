/** How large a story's text is set, as each browser remembers it. Styles are in `src/styles/text-size.css`. */

/** From the smallest; the one without a mark on `<html>` is the paper's own. */
export const textSizes = [
  { name: 'small', label: 'Small' },
  { name: '', label: 'Standard' },
  { name: 'large', label: 'Large' },
  { name: 'larger', label: 'Largest' },
] as const;

/** Name in local storage. */
export const textSizeName = 'text-size';

/**
 * Script of an article's head: marks `<html>` before the first paint, so that the text does not jump, and says where nothing can be
 * read aloud. Its text is fixed, for the policy of a page names it by its hash.
 */
export const readingScript =
  "{const d=document.documentElement.dataset;try{const s=localStorage['text-size'];if(s)d.textSize=s}catch{}if(!window.speechSynthesis)d.mute=''}";
