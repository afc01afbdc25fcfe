/**
 * All that a story's tools cost before one is used: a click on something with `data-tool` fetches what it needs. Where that cannot be
 * fetched, a form is sent as a form and a menu opens as it is. What a page does while it is read comes with the first scroll
 * (`reading.ts`).
 */
document.addEventListener('click', (event) => {
  const tool = (event.target as Element).closest<HTMLButtonElement>('[data-tool]');
  if (!tool) return;
  const menu = tool.popoverTargetElement as HTMLElement | null;
  // Where the device has a sheet of its own to share by, ours is only for what that has not: to give a story away.
  const own = 'ownSheet' in tool.dataset && 'share' in navigator && matchMedia('(pointer:coarse)').matches;
  if (!menu || own) event.preventDefault();
  import('./tools.ts')
    .then(({ use }) => use(tool, own))
    .catch(() => (menu ? own && menu.showPopover() : tool.form?.submit()));
});
