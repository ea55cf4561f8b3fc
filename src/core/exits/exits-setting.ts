// The operator's exits as one setting, together with those of the configuration, which cannot be changed here.
import { type Actor, differences } from '../audit/audit.js';
import { createAuditedSetting, type SettingStore } from '../settings/setting.js';
import { type Exit, type ExitFields, type ExitUpstream, MAX_EXITS, NEW_EXIT } from './exit.js';

export type ExitRefusal = 'exit-exists' | 'exit-fixed' | 'no-exit' | 'exit-in-use' | 'too-many-exits';

/** Fields of a change. A password that is left out stays, where proxy and user name are the same. */
type ExitChange = {
  readonly [Field in Exclude<keyof ExitFields, 'upstreams'>]?: ExitFields[Field] | undefined;
} & {
  readonly upstreams?:
    | readonly (Omit<ExitUpstream, 'password'> & { readonly password?: string | null | undefined })[]
    | undefined;
};

export type ExitsSetting = ReturnType<typeof createExitsSetting>;

/** @param ofFile the exits of the configuration */
export function createExitsSetting(store: SettingStore, ofFile: readonly Exit[]) {
  const setting = createAuditedSetting<readonly Exit[]>({
    store,
    key: 'egress.exits',
    name: 'exits',
    initial: [],
    // Also a new password, which the log does not show, is a change.
    audited: (before, after) => ({ ...differences(shown(before), shown(after)), differs: true }),
  });
  const find = (exits: readonly Exit[], name: string): Exit | undefined =>
    exits.find((exit) => exit.name === name);
  const isFixed = (name: string): boolean => find(ofFile, name) !== undefined;
  /** Those of the configuration (without passwords), then the operator's by name. */
  const list = (): readonly Exit[] => [...ofFile, ...setting.current().filter(({ name }) => !isFixed(name))];

  /** Writes `exit` in the place of the one with its name; of several defaults, it is the one that stays. */
  const put = (exits: readonly Exit[], exit: Exit): readonly Exit[] =>
    [
      ...exits
        .filter(({ name }) => name !== exit.name)
        .map((other) => (exit.isDefault ? { ...other, isDefault: false } : other)),
      exit,
    ].sort((a, b) => (a.name < b.name ? -1 : 1));

  return {
    ...setting,
    list,
    isFixed,
    byName: (name: string): Exit | null => find(list(), name) ?? null,

    add: (name: string, fields: ExitChange, by: Actor): Promise<ExitRefusal | null> =>
      setting.save(
        (stored) => put(stored, changed({ name, ...NEW_EXIT }, fields)),
        by,
        (stored) => {
          if (isFixed(name) || find(stored, name)) return 'exit-exists';
          return stored.length >= MAX_EXITS ? 'too-many-exits' : null;
        },
      ),

    async set(name: string, change: ExitChange, by: Actor): Promise<ExitRefusal | null> {
      if (isFixed(name)) return 'exit-fixed';
      return setting.save(
        (stored) => put(stored, changed(find(stored, name) ?? { name, ...NEW_EXIT }, change)),
        by,
        (stored) => (find(stored, name) ? null : 'no-exit'),
      );
    },

    /** @param isUsed whether an account or a plan names the exit */
    async remove(name: string, isUsed: (name: string) => boolean, by: Actor): Promise<ExitRefusal | null> {
      if (isFixed(name)) return 'exit-fixed';
      return setting.save(
        (stored) => stored.filter((exit) => exit.name !== name),
        by,
        (stored) => {
          const exit = find(stored, name);
          if (exit === undefined) return 'no-exit';
          return exit.isDefault || isUsed(name) ? 'exit-in-use' : null;
        },
      );
    },
  };
}

function changed(exit: Exit, { upstreams, ...change }: ExitChange): Exit {
  const known = (proxy: string, username: string | null): string | null =>
    exit.upstreams.find((each) => each.proxy === proxy && each.username === username)?.password ?? null;
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return {
    ...exit,
    ...(Object.fromEntries(given) as Partial<ExitFields>),
    upstreams:
      upstreams?.map(({ proxy, username, password }) => ({
        proxy,
        username,
        password: password === undefined ? known(proxy, username) : password,
      })) ?? exit.upstreams,
  };
}

/** The exits as the audit log shows them: without passwords. */
function shown(exits: readonly Exit[]): Record<string, object> {
  return Object.fromEntries(
    exits.map(({ name, upstreams, ...fields }) => [
      name,
      { ...fields, upstreams: upstreams.map(({ proxy, username }) => ({ proxy, username })) },
    ]),
  );
}
