/* Stands in for the vendor's widget: reports the options that opened it to the stand-in's server, and offers the same choices. */
(() => {
  const { origin: host, searchParams } = new URL(document.currentScript.src);
  const appId = searchParams.get('appId');
  // Reports by an image request, which needs no permission for another origin.
  const tell = (what) => {
    new Image().src = `${host}/_sandbox/tell?${new URLSearchParams({ what: JSON.stringify(what) })}`;
  };

  const checker = makeChecker(shapes, (what, message) => tell({ what, options: { message }, handlers: [] }));

  function init(what, options) {
    checker.check('What', what);
    checker.check('Options', options);
    if (options.appId !== appId) checker.fault('The script is of another app');
    const plain = Object.fromEntries(Object.entries(options).filter(([, value]) => typeof value !== 'function'));
    tell({
      what,
      options: plain,
      handlers: Object.keys(options).filter((name) => typeof options[name] === 'function'),
    });
    const dialog = document.createElement('dialog');
    dialog.setAttribute('aria-label', 'Before you go');
    const said = document.createElement('p');
    said.setAttribute('role', 'status');
    const button = (words, press) => {
      const made = document.createElement('button');
      made.type = 'button';
      made.textContent = words;
      made.addEventListener('click', press);
      return made;
    };
    const close = () => {
      dialog.close();
      dialog.remove();
      options.onClose?.({});
    };
    dialog.append(
      said,
      button('Cancel for good', async () => {
        try {
          const { message } = await options.handleCancel({ id: options.customerId }, 'Budget', 'Too dear');
          said.textContent = message;
        } catch (error) {
          said.textContent = error.message;
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
