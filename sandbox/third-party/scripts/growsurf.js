// Stands in for GrowSurf's widget. Its snippet names the campaign on the tag and in the settings.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const told = (what, details) =>
    fetch(`${origin}/told/growsurf`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const strict = makeStrict(shapes, told);
  const campaign = document.currentScript.getAttribute('grsf-campaign');
  strict.check('Settings', window.grsfSettings);
  if (campaign !== window.grsfSettings.campaignId) strict.fault(`The tag is for ${campaign}, the settings for another`);
  told('init', { campaign, settings: window.grsfSettings });
})();
