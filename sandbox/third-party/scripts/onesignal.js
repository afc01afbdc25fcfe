// Stands in for OneSignal's SDK v16: consent, set-up with its worker, tags.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const told = (what, details) =>
    fetch(`${origin}/told/onesignal`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const sdk = {
    async setConsentRequired(required) {
      await told('setConsentRequired', required);
    },
    async setConsentGiven(given) {
      await told('setConsentGiven', given);
    },
    async init(options) {
      await told('init', options);
      const { serviceWorkerPath, serviceWorkerParam } = options;
      try {
        await navigator.serviceWorker.register(`/${serviceWorkerPath}`, serviceWorkerParam);
        await told('worker', serviceWorkerParam.scope);
      } catch (error) {
        await told('no worker', String(error));
      }
    },
    User: {
      addTags: (tags) => void told('addTags', tags),
      PushSubscription: { optOut: () => told('optOut', null) },
    },
  };
  const waiting = window.OneSignalDeferred ?? [];
  let turn = Promise.resolve();
  const push = (action) => {
    turn = turn.then(() => action(sdk)).catch((error) => console.warn(error));
  };
  window.OneSignalDeferred = { push };
  for (const action of waiting) push(action);
})();
