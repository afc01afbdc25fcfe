// Stands in for Google Publisher Tag: settings, slots with size mappings, lazy loading, events, destruction.
(() => {
  const { origin } = new URL(document.currentScript.src);
  const told = (what, details) =>
    fetch(`${origin}/told/gpt`, { method: 'POST', body: JSON.stringify({ what, details }), keepalive: true });
  const config = {};
  const listeners = [];
  let slots = [];

  const mapping = () => {
    const steps = [];
    return {
      addSize(viewport, sizes) {
        steps.push({ viewport, sizes });
        return this;
      },
      build: () => steps,
    };
  };
  const service = {
    addEventListener(name, listener) {
      if (name === 'slotRenderEnded') listeners.push(listener);
    },
    setPrivacySettings: (settings) => void told('setPrivacySettings', settings),
  };

  const render = async (slot) => {
    const step = slot.steps.find(({ viewport: [width] }) => window.innerWidth >= width);
    const [size] = step?.sizes ?? slot.sizes;
    const query = new URLSearchParams({ slot: slot.unit, size: size.join('x'), ...config.targeting });
    let empty = true;
    try {
      ({ empty } = await (await fetch(`${origin}/gpt/ads?${query}`)).json());
    } catch {
      // As when nothing was found.
    }
    if (slot.gone) return;
    const place = document.getElementById(slot.element);
    if (!empty && place) {
      const frame = document.createElement('iframe');
      Object.assign(frame, {
        title: 'Advertisement',
        width: size[0],
        height: size[1],
        src: `${origin}/gpt/creative?${query}`,
      });
      frame.style.border = '0';
      place.replaceChildren(frame);
    }
    for (const listener of listeners) listener({ slot: slot.api, isEmpty: empty, size });
  };

  const ahead = () =>
    (config.lazyLoad?.fetchMarginPercent ?? 0) * (window.innerWidth < 768 ? (config.lazyLoad?.mobileScaling ?? 1) : 1);
  const near = new Map();
  const display = (slot) => {
    if (!config.lazyLoad) return render(slot);
    const observer = new IntersectionObserver(
      ([entry]) => {
        if (!entry.isIntersecting) return;
        observer.disconnect();
        render(slot);
      },
      { rootMargin: `${ahead()}% 0px` },
    );
    near.set(slot, observer);
    observer.observe(document.getElementById(slot.element));
  };

  const tag = {
    setConfig(settings) {
      Object.assign(config, settings);
      told('setConfig', settings);
    },
    sizeMapping: mapping,
    pubads: () => service,
    enableServices: () => {},
    defineSlot(unit, sizes, element) {
      if (slots.some((slot) => slot.element === element)) return null;
      const slot = { unit, sizes, element, steps: [], gone: false };
      slot.api = {
        addService: () => slot.api,
        defineSizeMapping(steps) {
          slot.steps = steps;
          return slot.api;
        },
        setConfig: (settings) => {
          slot.config = settings;
        },
        getSlotElementId: () => element,
      };
      slots.push(slot);
      told('defineSlot', { unit, sizes, element });
      return slot.api;
    },
    display(element) {
      const slot = slots.find((each) => each.element === element);
      if (slot) display(slot);
    },
    destroySlots() {
      for (const slot of slots) {
        slot.gone = true;
        near.get(slot)?.disconnect();
        document.getElementById(slot.element)?.replaceChildren();
      }
      slots = [];
      told('destroySlots', null);
      return true;
    },
    cmd: { push: (command) => command() },
  };
  const waiting = window.googletag?.cmd ?? [];
  window.googletag = tag;
  for (const command of waiting) command();
})();
