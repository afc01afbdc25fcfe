// Stands in for Google Publisher Tag: settings, slots with size mappings, lazy loading, events, destruction. As in the vendor's reference:
// a slot is shown only if its service was added and services are enabled; with `singleRequest` the first slot within the fetch margin
// fetches all of them; prefetched slots are rendered within the render margin.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const report = (what, details) =>
    fetch(`${origin}/reports/gpt`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const checker = makeChecker(shapes, report);
  const config = {};
  let enabled = false;
  const listeners = [];
  let slots = [];

  const mapping = () => {
    const steps = [];
    const builder = checker.wrap('SizeMappingBuilder', {
      addSize(viewport, sizes) {
        steps.push([viewport, sizes]);
        return builder;
      },
      build: () => (steps.length > 0 ? steps : null),
    });
    return builder;
  };
  const service = checker.wrap('PubAdsService', {
    addEventListener(name, listener) {
      if (name === 'slotRenderEnded') listeners.push(listener);
      return service;
    },
    setPrivacySettings(settings) {
      report('setPrivacySettings', settings);
      return service;
    },
  });

  const fetchAd = async (slot) => {
    if (slot.fetched) return;
    slot.fetched = true;
    const [, sizes] = slot.steps.find(([[width]]) => window.innerWidth >= width) ?? [];
    const [size] = sizes ?? slot.sizes;
    const query = new URLSearchParams({ slot: slot.unit, size: size.join('x'), ...config.targeting });
    let empty = true;
    try {
      ({ empty } = await (await fetch(`${origin}/gpt/ads?${query}`)).json());
    } catch {
      // Treated as an empty response.
    }
    await within(slot, config.lazyLoad?.renderMarginPercent);
    if (slot.destroyed) return;
    const container = document.getElementById(slot.element);
    if (!empty && container) {
      const frame = document.createElement('iframe');
      Object.assign(frame, {
        title: 'Advertisement',
        width: size[0],
        height: size[1],
        src: `${origin}/gpt/creative?${query}`,
      });
      frame.style.border = '0';
      container.replaceChildren(frame);
    }
    for (const listener of listeners) listener({ slot: slot.api, isEmpty: empty, size });
  };

  const observers = new Map();
  /** Resolves when a slot is within this percentage of the window's height; at once without lazy loading. */
  const within = (slot, percent) => {
    const container = document.getElementById(slot.element);
    if (!config.lazyLoad || percent === undefined || percent === null || !container) return Promise.resolve();
    const scaled = percent * (window.innerWidth < 768 ? (config.lazyLoad.mobileScaling ?? 1) : 1);
    return new Promise((resolve) => {
      const observer = new IntersectionObserver(
        ([entry]) => {
          if (!entry.isIntersecting) return;
          observer.disconnect();
          resolve();
        },
        { rootMargin: `${scaled}% 0px` },
      );
      observers.set(slot, observer);
      observer.observe(container);
    });
  };
  const display = async (slot) => {
    if (!enabled || !slot.served) return;
    await within(slot, config.lazyLoad?.fetchMarginPercent);
    if (slot.destroyed) return;
    for (const each of config.singleRequest ? slots : [slot]) if (each.served) void fetchAd(each);
  };

  const tag = checker.wrap('googletag', {
    setConfig(settings) {
      Object.assign(config, settings);
      report('setConfig', settings);
    },
    sizeMapping: mapping,
    pubads: () => service,
    enableServices() {
      enabled = true;
    },
    defineSlot(unit, sizes, element) {
      if (!/^\/\d+(?:,\d+)?(?:\/[\w.*<>-]+)+$/.test(unit)) checker.fault(`${unit} is not an ad unit path`);
      if (slots.some((slot) => slot.element === element)) return null;
      const slot = { unit, sizes, element, steps: [], destroyed: false, served: false };
      slot.api = checker.wrap('Slot', {
        addService(given) {
          slot.served = given === service;
          return slot.api;
        },
        defineSizeMapping(steps) {
          slot.steps = steps;
          return slot.api;
        },
        setConfig: (settings) => {
          slot.config = settings;
        },
        getSlotElementId: () => element,
      });
      slots.push(slot);
      report('defineSlot', { unit, sizes, element });
      return slot.api;
    },
    display(element) {
      const slot = slots.find((each) => each.element === element);
      if (slot) void display(slot);
      else checker.fault(`googletag.display: no slot is defined for ${element}`);
    },
    destroySlots() {
      for (const slot of slots) {
        slot.destroyed = true;
        observers.get(slot)?.disconnect();
        document.getElementById(slot.element)?.replaceChildren();
      }
      slots = [];
      report('destroySlots', null);
      return true;
    },
    cmd: { push: (command) => command() },
  });
  const queued = window.googletag?.cmd ?? [];
  window.googletag = tag;
  for (const command of queued) command();
})();
