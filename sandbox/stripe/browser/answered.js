/** Reports to the page that the challenge is answered; without an opener, returns to the page that the reader came from. */
const { back } = document.body.dataset;
if (parent !== window) parent.postMessage({ stripeChallenge: 'answered' }, '*');
else if (back) location.replace(back);
