// Stands in for what OneSignal's worker fetches of itself.
self.addEventListener('push', () => {});
