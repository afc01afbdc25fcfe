// Stands in for the script that OneSignal's worker loads.
self.addEventListener('push', () => {});
