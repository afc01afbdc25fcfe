// Shows new messages as they arrive, fits the frame to the message, and sends changes of the switches to the server.
const frame = document.querySelector('iframe');

function fit() {
  const inside = frame?.contentDocument?.documentElement;
  if (frame && inside) frame.style.blockSize = `${Math.max(320, inside.scrollHeight)}px`;
}
frame?.addEventListener('load', fit);
addEventListener('resize', fit);
fit();

async function refresh() {
  const answer = await fetch(location.href);
  const fresh = new DOMParser().parseFromString(await answer.text(), 'text/html');
  for (const part of ['#letters', '.switches']) {
    const now = document.querySelector(part);
    const next = fresh.querySelector(part);
    if (now && next) now.replaceWith(next);
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
    const answer = await fetch(`/api/messages?wait=30000&after=${document.documentElement.dataset.last}`);
    if (answer.status === 200) await refresh();
  } catch {
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}
