// Stands in for Marfeel Compass: reads its account, runs the queued commands, and later ones as they come.
const { origin, searchParams } = new URL(import.meta.url);
const report = (what, details) =>
  fetch(`${origin}/reports/marfeel`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
const checker = makeChecker(shapes, report);
checker.check('Config', window.marfeel?.config);
if (String(window.marfeel.config.accountId) !== searchParams.get('id'))
  checker.fault('The script was loaded with another account id');
const compass = checker.wrap('Compass', { setUserType: (type) => void report('setUserType', type) });
const run = ([name, action]) =>
  name === 'compass' ? action(compass) : checker.fault(`There is no command ${JSON.stringify(name)}`);
const queued = window.marfeel.cmd ?? [];
window.marfeel.cmd = { push: run };
for (const command of queued) run(command);
