/** The tools of a story: their messages, and the text sizes. */

/** Messages for a reader who gives an article away. */
export const giftMessages = {
  noArticle: 'We can’t find this article.',
  free: 'Everyone can read this article. Just share its address.',
  subscribersOnly: 'Only subscribers can give articles away.',
  confirmFirst: 'Confirm your email address first: open the link we mailed you, or sign in with your email again.',
  allUsed: (most: number): string => `You’ve used all ${most} gift links for these 30 days.`,
} as const;

/** Messages of a story's tools, and of the lists of saved and read stories. */
export const toolMessages = {
  save: 'Save',
  isSaved: 'Saved',
  copied: 'Link copied.',
  copyThis: (url: string): string => `Copy this link: ${url}`,
  saved: 'Saved. You’ll find it in your account, under “Saved.”',
  removed: 'Removed from your saved stories.',
  signInToSave: 'Save this story for later',
  removedTitle: (title: string): string => `Removed “${title}.”`,
  undo: 'Undo',
  listen: 'Listen to this story',
  play: 'Play',
  pause: 'Pause',
  stop: 'Stop',
  speed: 'Speed',
  noVoice: 'This browser can’t read aloud right now.',
  giftBusy: 'One moment…',
  giftCopied: (url: string): string => `Link copied: ${url}`,
  giftsLeft: (left: number, most: number): string =>
    left === 0 ? giftMessages.allUsed(most) : `${left} of ${most} gift links left for 30 days.`,
  confirmAgain: 'Send the confirmation email again',
  failed: 'Something went wrong. Please try again.',
  offline: 'You’re offline. Try again when you’re connected.',
} as const;

/** The message when a call fails: the server's, if it sent one. */
export const failureText = (message: string | null): string =>
  message ?? (navigator.onLine ? toolMessages.failed : toolMessages.offline);

/**
 * Text sizes, smallest first, remembered by each browser; the standard size has no attribute on `<html>`. Styles are in
 * `components/article/Tools.astro`.
 */
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
