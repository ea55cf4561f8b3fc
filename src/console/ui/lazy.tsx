// Parts of the console that a browser loads when they are first shown: pages and dialogs.
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { ApiError, call, online } from '../lib/api.js';
import { t } from '../lib/i18n.js';
import { Dialog } from './dialog.js';
import { Failure, Skeleton } from './states.js';

const reload = () => location.reload();

type Part<Props> = (props: Props) => ComponentChildren;
/** `load` begins to load the part before it is shown. */
export type Lazy<Props> = Part<Props> & { load(): Promise<Part<Props>> };

/** @param waiting stands for the part until it is loaded, or cannot be: the daemon is away, or was updated and has other files now */
function lazy<Props extends object>(
  load: () => Promise<Part<Props>>,
  waiting: Part<Props & { error: unknown }>,
) {
  let loaded: Part<Props> | undefined;
  const loadOnce = async () => {
    loaded ??= await load();
    return loaded;
  };
  function Lazily(props: Props) {
    const [Shown, show] = useState(() => loaded);
    const [error, setError] = useState<unknown>(null);
    useEffect(() => {
      if (!Shown)
        loadOnce().then(
          (part) => show(() => part),
          () => {
            setError(new ApiError(0, 'not-loaded', null));
            // Whether the daemon is away or has been updated shows in its answer.
            call('getMe').catch(() => {});
          },
        );
    }, []);
    // A browser may keep the failure of a file, so it loads the whole page again when the daemon is back.
    useEffect(() => (error ? online.subscribe(() => online.get() && reload()) : undefined), [error]);
    return Shown ? <Shown {...props} /> : waiting({ ...props, error });
  }
  return Object.assign(Lazily, { load: loadOnce }) as Lazy<Props>;
}

/** A page, or a section below the heading of one. */
export const lazyPage = <Props extends object = Record<never, never>>(
  load: () => Promise<Part<Props>>,
): Lazy<Props> =>
  lazy(load, ({ error }) => (error ? <Failure error={error} retry={reload} /> : <Skeleton rows={12} />));

export const lazyDialog = <Props extends { onClose: () => void }>(
  load: () => Promise<Part<Props>>,
): Lazy<Props> =>
  lazy(load, ({ error, onClose }) =>
    error ? (
      <Dialog title={t('error.not-loaded')} onClose={onClose}>
        <Failure error={error} retry={reload} />
      </Dialog>
    ) : (
      <span class="skeleton sr-only" role="status">
        {t('state.loading')}
      </span>
    ),
  );
