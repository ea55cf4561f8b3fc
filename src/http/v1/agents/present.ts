// How /api/v1 and the command line show a run and its deliveries.
import type { Delivery, Run } from '../../../core/agents/runs.js';
import { iso, isoOrNull } from '../../../core/clock.js';

export function presentRun(run: Run) {
  return {
    ...run,
    acceptedAt: iso(run.acceptedAt),
    startedAt: isoOrNull(run.startedAt),
    finishedAt: isoOrNull(run.finishedAt),
    nextDeliveryAt: isoOrNull(run.nextDeliveryAt),
  };
}

export function presentDelivery({ runId: _, ...delivery }: Delivery) {
  return { ...delivery, startedAt: iso(delivery.startedAt), finishedAt: iso(delivery.finishedAt) };
}
