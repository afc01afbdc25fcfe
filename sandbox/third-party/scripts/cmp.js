// Stands in for a certified consent platform (TCF 2.3). The CMP API and the TC strings come from IAB Tech Lab's own packages; this
// script adds only a dialog of three buttons, a way to reopen it, and the cookie that stores the TC string.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const report = (what, details) =>
    fetch(`${origin}/reports/cmp`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const fault = (message) => {
    report('fault', message);
    throw new TypeError(message);
  };
  // A platform's snippet installs the stub before the script loads: pages must have it, so that no call is lost.
  if (typeof window.__tcfapi !== 'function' || !Array.isArray(window.__tcfapi()))
    fault('There is no stub that queues calls of __tcfapi.');
  if (!window.frames.__tcfapiLocator) fault('There is no frame __tcfapiLocator for vendors in frames.');

  const commands = ['addEventListener', 'removeEventListener', 'ping', 'getTCData', 'getVendorList'];
  const checkCall = ([command, version, callback]) => {
    if (!commands.includes(command)) fault(`__tcfapi has no command ${command}`);
    if (version !== 2) fault(`__tcfapi was called for version ${version}`);
    if (typeof callback !== 'function') fault(`__tcfapi('${command}') has no callback`);
    if (command === 'getTCData') fault('getTCData is deprecated since TCF 2.2; listen instead');
  };
  for (const call of window.__tcfapi()) checkCall(call);

  const cookie = 'euconsent-v2';
  const storedTcString = () => new RegExp(`(?:^|; )${cookie}=([^;]+)`).exec(document.cookie)?.[1] ?? '';
  const answers = {
    'Accept everything': { purposes: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], interests: [], vendors: [755] },
    'Statistics only': { purposes: [1, 8], interests: [], vendors: [] },
    'Refuse everything': { purposes: [], interests: [], vendors: [] },
  };

  const start = async () => {
    const [{ CmpApi }, { GVL, TCModel, TCString }, region, list] = await Promise.all([
      import(`${origin}/cmp/modules/cmpapi/index.js`),
      import(`${origin}/cmp/modules/core/index.js`),
      fetch(`${origin}/cmp/region`).then((answer) => answer.json()),
      fetch(`${origin}/cmp/vendor-list.json`).then((answer) => answer.json()),
    ]);
    const api = new CmpApi(31, 1, true);
    const own = window.__tcfapi;
    window.__tcfapi = (...call) => {
      if (call.length > 0) checkCall(call);
      return own(...call);
    };
    if (!region.applies) return api.update(null);

    const encode = ({ purposes, interests, vendors }) => {
      const model = new TCModel(new GVL(list));
      Object.assign(model, {
        cmpId: 31,
        cmpVersion: 1,
        consentScreen: 1,
        isServiceSpecific: true,
        publisherCountryCode: 'DE',
      });
      model.purposeConsents.set(purposes);
      model.purposeLegitimateInterests.set(interests);
      model.vendorConsents.set(vendors);
      // Every vendor that the dialog lists; mandatory since TCF 2.3.
      model.vendorsDisclosed.set(Object.keys(list.vendors).map(Number));
      return TCString.encode(model);
    };
    const dialog = document.createElement('div');
    dialog.setAttribute('role', 'dialog');
    dialog.setAttribute('aria-label', 'Consent platform');
    dialog.style.cssText = 'position:fixed;inset:auto 0 0;z-index:9999;padding:1rem;background:#fff;color:#000;';
    const button = (name, act) => {
      const made = document.createElement('button');
      made.type = 'button';
      made.textContent = name;
      made.onclick = act;
      return made;
    };
    const ask = () => {
      dialog.hidden = false;
      api.update(storedTcString(), true);
    };
    for (const [name, answer] of Object.entries(answers)) {
      const given = () => {
        const text = encode(answer);
        // biome-ignore lint/suspicious/noDocumentCookie: as platforms do
        document.cookie = `${cookie}=${text}; Path=/; Max-Age=3600`;
        dialog.hidden = true;
        api.update(text, false);
        report('answered', { name, segments: text.split('.').length });
      };
      dialog.append(button(name, given));
    }
    const settings = button('Consent settings', ask);
    settings.style.cssText = 'position:fixed;inset:auto auto 0 0;z-index:9998;';
    dialog.hidden = true;
    document.body.append(dialog, settings);
    if (storedTcString()) api.update(storedTcString(), false);
    else ask();
  };
  start().catch((error) => report('fault', String(error)));
})();
