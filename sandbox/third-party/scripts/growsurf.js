// Stands in for GrowSurf's widget.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const details = { campaign: document.currentScript.getAttribute('grsf-campaign'), settings: window.grsfSettings };
  fetch(`${origin}/told/growsurf`, {
    method: 'POST',
    body: JSON.stringify({ what: 'init', details }),
    keepalive: true,
  });
})();
