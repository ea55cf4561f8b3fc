// What is known of the settings around it: the key of each in the configuration, and its default.
import type { ComponentChildren } from 'preact';
import { may } from '../../lib/api.js';
import { isTextKey, t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { SettingWords } from '../../ui/form.js';

interface ConfigWordsProps {
  /** By label or path; '': none. */
  readonly keys: Readonly<Record<string, string>>;
  /** Of settings without a key. */
  readonly standards?: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
}

export function ConfigWords({ keys, standards = {}, children }: ConfigWordsProps) {
  const config = useLoad('getEffectiveConfig', may('getEffectiveConfig') ? {} : null).data;
  const ofKeys = new Map(config?.entries.map((entry) => [entry.path, entry.default]));
  const words = Object.entries(keys).flatMap(([name, key]) => {
    const standard = (ofKeys.get(key) ?? standards[name])?.replace(NOTHING, '—').replace(/^\[ (.*) ]$/, '$1');
    return standard ? [[isTextKey(name) ? t(name) : name, { key, standard }] as const] : [];
  });
  return <SettingWords.Provider value={new Map(words)}>{children}</SettingWords.Provider>;
}

/** In YAML. */
const NOTHING = /^(null|""|\[\]|\{\})$/;
