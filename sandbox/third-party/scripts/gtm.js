// Stands in for Google Tag Manager: reports every entry of the data layer, existing and new.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const checker = makeChecker(shapes, (what, details) =>
    fetch(`${origin}/reports/gtm`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true }),
  );
  /** The data layer takes commands of consent mode, and events by name; keys that begin with gtm are Google's own. */
  const check = (entry) => {
    if (Object.prototype.toString.call(entry) === '[object Arguments]') {
      const [name, how, params, ...more] = entry;
      if (name !== 'consent' || more.length > 0)
        checker.fault(`The data layer has no command ${JSON.stringify([...entry])}`);
      checker.check('ConsentArg', how);
      checker.check('ConsentParams', params);
      return;
    }
    if (typeof entry?.event !== 'string')
      checker.fault(`The data layer was given ${JSON.stringify(entry)}, which is not an event`);
    const own = Object.keys(entry).filter((key) => key.startsWith('gtm.'));
    if (own.length > 0 && entry.event !== 'gtm.js') checker.fault(`The data layer reserves ${own}`);
  };
  // Sends one report after another: in parallel they would arrive in any order.
  let queue = Promise.resolve();
  const report = (entry) => {
    check(entry);
    const command = Object.prototype.toString.call(entry) === '[object Arguments]';
    const what = command ? `${entry[0]} ${entry[1]}` : (entry.event ?? 'data');
    const details = command ? entry[2] : entry;
    const body = JSON.stringify({ what, details });
    queue = queue.then(() => fetch(`${origin}/reports/gtm`, { method: 'POST', body, keepalive: true })).catch(() => {});
  };
  const layer = window.dataLayer;
  if (!layer?.some((entry) => entry.event === 'gtm.js' && typeof entry['gtm.start'] === 'number'))
    checker.fault('The snippet’s gtm.start is not in the data layer');
  for (const entry of layer) report(entry);
  layer.push = (...entries) => {
    for (const entry of entries) report(entry);
    return Array.prototype.push.apply(layer, entries);
  };
  // biome-ignore lint/suspicious/noDocumentCookie: as the vendor does
  document.cookie = '_ga=GA1.1.1; Path=/; Max-Age=60';
})();
