/* Stands in for the vendor's widget: reports the options that opened it to the stand-in's server, and offers the same choices. */
(() => {
  const { origin: host, searchParams } = new URL(document.currentScript.src);
  const appId = searchParams.get('appId');
  // Reports by an image request, which needs no permission for another origin.
  const report = (what) => {
    new Image().src = `${host}/_sandbox/report?${new URLSearchParams({ what: JSON.stringify(what) })}`;
  };

  const checker = makeChecker(shapes, (what, message) => report({ what, options: { message }, handlers: [] }));

  function init(what, options) {
    checker.check('What', what);
    checker.check('Options', options);
    if (options.appId !== appId) checker.fault('The script was loaded with another appId');
    const plain = Object.fromEntries(Object.entries(options).filter(([, value]) => typeof value !== 'function'));
    report({
      what,
      options: plain,
      handlers: Object.keys(options).filter((name) => typeof options[name] === 'function'),
    });
    const dialog = document.createElement('dialog');
    dialog.setAttribute('aria-label', 'Before you go');
    const status = document.createElement('p');
    status.setAttribute('role', 'status');
    const button = (label, onClick) => {
      const made = document.createElement('button');
      made.type = 'button';
      made.textContent = label;
      made.addEventListener('click', onClick);
      return made;
    };
    const close = () => {
      dialog.close();
      dialog.remove();
      options.onClose?.({});
    };
    dialog.append(
      status,
      button('Cancel for good', async () => {
        try {
          const { message } = await options.handleCancel({ id: options.customerId }, 'Budget', 'Too expensive');
          status.textContent = message;
        } catch (error) {
          status.textContent = error.message;
        }
      }),
      button('Never mind', close),
    );
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      close();
    });
    document.body.append(dialog);
    dialog.showModal();
  }
  window.churnkey = { ...window.churnkey, init };
})();
