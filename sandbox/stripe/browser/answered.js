/** Tells the page that the bank has its answer; a page of its own goes back to where the reader came from. */
const { back } = document.body.dataset;
if (parent !== window) parent.postMessage({ stripeChallenge: 'answered' }, '*');
else if (back) location.replace(back);
