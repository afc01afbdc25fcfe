// Stands in for GrowSurf's widget. Its snippet names the campaign on the tag and in the settings.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const report = (what, details) =>
    fetch(`${origin}/reports/growsurf`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const checker = makeChecker(shapes, report);
  const campaign = document.currentScript.getAttribute('grsf-campaign');
  checker.check('Settings', window.grsfSettings);
  if (campaign !== window.grsfSettings.campaignId)
    checker.fault(`The tag’s campaign ${campaign} differs from that of the settings`);
  report('init', { campaign, settings: window.grsfSettings });
})();
