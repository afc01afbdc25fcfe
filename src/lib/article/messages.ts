/** What the tools of a story say to its reader. */
export const toolMessages = {
  copied: 'Link copied.',
  copyThis: (url: string): string => `Copy this link: ${url}`,
  saved: 'Saved. You’ll find it in your account, under “Saved.”',
  removed: 'Removed from your saved stories.',
  signInToSave: 'Save this story for later',
  noVoice: 'This browser can’t read aloud right now.',
  giftBusy: 'One moment…',
  giftCopied: (url: string): string => `Link copied: ${url}`,
  giftsLeft: (left: number, most: number): string =>
    left === 0
      ? `You’ve used all ${most} gift links for these 30 days.`
      : `${left} of ${most} gift links left for 30 days.`,
  confirmAgain: 'Send the confirmation email again',
  failed: 'Something went wrong. Please try again.',
  offline: 'You’re offline. Try again when you’re connected.',
} as const;

/** What is said when a call fails: the server's words, where it has some. */
export const failureText = (message: string | null): string =>
  message ?? (navigator.onLine ? toolMessages.failed : toolMessages.offline);
