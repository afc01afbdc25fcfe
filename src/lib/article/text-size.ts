/** How large a story's text is set, as each browser remembers it. Styles are in `src/components/article/Tools.astro`. */

/** From the smallest; the standard size has no attribute on `<html>`. */
export const textSizes = [
  { name: 'small', label: 'Small' },
  { name: '', label: 'Standard' },
  { name: 'large', label: 'Large' },
  { name: 'larger', label: 'Largest' },
] as const;

/** Name in local storage. */
export const textSizeName = 'text-size';

/**
 * Script in an article's head: sets the text size on `<html>` before the first paint, and marks browsers that can't read aloud. The
 * content security policy names it by its hash, so its text is constant.
 */
export const readingScript =
  "{const d=document.documentElement.dataset;try{const s=localStorage['text-size'];if(s)d.textSize=s}catch{}if(!window.speechSynthesis)d.mute=''}";
