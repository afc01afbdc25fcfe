// Stands in for Marfeel Compass: runs the commands that wait, and those that come.
const { origin } = new URL(import.meta.url);
const compass = {
  setUserType(code) {
    const body = JSON.stringify({ what: 'setUserType', details: code });
    fetch(`${origin}/told/marfeel`, { method: 'POST', body, keepalive: true });
  },
};
const run = ([name, action]) => name === 'compass' && action(compass);
const waiting = window.marfeel?.cmd ?? [];
window.marfeel = { cmd: { push: run } };
for (const command of waiting) run(command);
