// Stands in for OneSignal's SDK v16: consent, set-up with its worker, tags.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const report = (what, details) =>
    fetch(`${origin}/reports/onesignal`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const checker = makeChecker(shapes, report);
  let optedOut = false;
  const isGranted = () => window.Notification?.permission === 'granted';
  const subscription = {
    get optedIn() {
      return isGranted() && !optedOut;
    },
    async optIn() {
      optedOut = false;
      await report('optIn', null);
    },
    async optOut() {
      optedOut = true;
      await report('optOut', null);
    },
  };
  const notifications = {
    get permission() {
      return isGranted();
    },
  };
  const sdk = checker.wrap('OneSignal', {
    async setConsentRequired(required) {
      await report('setConsentRequired', required);
    },
    async setConsentGiven(given) {
      await report('setConsentGiven', given);
    },
    async init(options) {
      if (!/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(options.appId)) checker.fault('The app id is not a UUID');
      await report('init', options);
      const { serviceWorkerPath, serviceWorkerParam } = options;
      try {
        await navigator.serviceWorker.register(`/${serviceWorkerPath}`, serviceWorkerParam);
        await report('worker', serviceWorkerParam.scope);
      } catch (error) {
        await report('no worker', String(error));
      }
    },
    Notifications: checker.wrap('Notifications', notifications),
    User: checker.wrap('User', {
      addTags: (tags) => void report('addTags', tags),
      PushSubscription: checker.wrap('PushSubscription', subscription),
    }),
  });
  const queued = window.OneSignalDeferred ?? [];
  let queue = Promise.resolve();
  const push = (action) => {
    queue = queue.then(() => action(sdk)).catch((error) => console.warn(error));
  };
  window.OneSignalDeferred = { push };
  for (const action of queued) push(action);
})();
