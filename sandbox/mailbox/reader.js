// Shows new messages as they arrive, fits the frame to the message, and sends changes of the controls to the server.
const frame = document.querySelector('iframe');

function fit() {
  const inside = frame?.contentDocument?.documentElement;
  if (frame && inside) frame.style.blockSize = `${Math.max(320, inside.scrollHeight)}px`;
}
frame?.addEventListener('load', fit);
addEventListener('resize', fit);
fit();

async function refresh() {
  const response = await fetch(location.href);
  const fresh = new DOMParser().parseFromString(await response.text(), 'text/html');
  for (const selector of ['#messages', '.controls']) {
    const current = document.querySelector(selector);
    const next = fresh.querySelector(selector);
    if (current && next) current.replaceWith(next);
  }
  document.documentElement.dataset.last = fresh.documentElement.dataset.last;
}

document.addEventListener('change', async ({ target }) => {
  if (target.id !== 'failure') return;
  await fetch('/api/failure', { method: 'PUT', body: JSON.stringify({ mode: target.value }) });
  await refresh();
});

document.addEventListener('click', async ({ target }) => {
  if (target.id !== 'clear') return;
  const { to } = target.dataset;
  await fetch(`/api/messages${to ? `?to=${encodeURIComponent(to)}` : ''}`, { method: 'DELETE' });
  location.href = '/';
});

for (;;) {
  try {
    const response = await fetch(`/api/messages?wait=30000&after=${document.documentElement.dataset.last}`);
    if (response.status === 200) await refresh();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}
