/** How long a proof of an e-mail address is good for, and how often a code may be guessed at. */

/** Links and codes live this long, in seconds. */
export const proofSeconds = 600;
/** Wrong guesses at one code. */
export const guessesPerCode = 5;
