/** Reports to the page that the challenge is answered; without an opener, returns to the intent's return URL. */
const { returnUrl } = document.body.dataset;
if (parent !== window) parent.postMessage({ stripeChallenge: 'answered' }, '*');
else if (returnUrl) location.replace(returnUrl);
