// Stands in for Calendly's widget: a popup with a page on which to choose a time.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const report = (what, details) =>
    fetch(`${origin}/reports/calendly`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const checker = makeChecker(shapes, report);
  window.Calendly = checker.wrap('Calendly', {
    initPopupWidget({ url }) {
      if (!URL.canParse(url)) checker.fault(`Calendly.initPopupWidget: url is ${url} and no address`);
      report('popup', url);
      const overlay = document.createElement('div');
      overlay.className = 'calendly-overlay';
      overlay.innerHTML =
        '<div class="calendly-popup"><iframe title="Choose a time"></iframe></div><button class="calendly-popup-close" aria-label="Close"></button>';
      overlay.querySelector('iframe').src = url;
      overlay.querySelector('button').onclick = () => overlay.remove();
      document.body.append(overlay);
    },
  });
})();
