// Stands in for Google Tag Manager: tells of everything in the data layer, old and new.
(() => {
  const { origin } = new URL(document.currentScript.src);
  // One after the other: side by side they arrive in any order.
  let before = Promise.resolve();
  const told = (entry) => {
    const command = Object.prototype.toString.call(entry) === '[object Arguments]';
    const what = command ? `${entry[0]} ${entry[1]}` : (entry.event ?? 'data');
    const details = command ? entry[2] : entry;
    const body = JSON.stringify({ what, details });
    before = before.then(() => fetch(`${origin}/told/gtm`, { method: 'POST', body, keepalive: true })).catch(() => {});
  };
  const layer = window.dataLayer;
  for (const entry of layer) told(entry);
  layer.push = (...entries) => {
    for (const entry of entries) told(entry);
    return Array.prototype.push.apply(layer, entries);
  };
  // biome-ignore lint/suspicious/noDocumentCookie: as the vendor does
  document.cookie = '_ga=GA1.1.1; Path=/; Max-Age=60';
})();
