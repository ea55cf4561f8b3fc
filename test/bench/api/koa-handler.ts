// A part: the lower bound for an HTTP server on Koa, with the same koa and router as the admin API: a handler that
// sends an empty object, and one that sends a list in memory as JSON. It is also an agent that answers at once.
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import Koa from 'koa';
import { servePart } from './parts.js';

const JSON_TYPE = 'application/json; charset=utf-8';
const ACCOUNT = {
  AID: '00000000-0000-4000-8000-000000000000',
  Username: 'player000000',
  IsEnabled: true,
  Remarks: null,
  CreatedAt: '2026-01-01T00:00:00',
  LastLoginAt: null,
  ExpiresAt: null,
  DataCount: 0,
  LatestGameId: null,
};

const lists = new Map<number, object[]>();
const router = new Router();
router.get('/empty', (ctx) => {
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = '{}';
});
router.get('/list/:length', (ctx) => {
  const length = Number(ctx.params['length']);
  const list = lists.get(length) ?? Array.from({ length }, () => ({ ...ACCOUNT }));
  lists.set(length, list);
  ctx.set('Content-Type', JSON_TYPE);
  ctx.body = JSON.stringify(list);
});
router.post('/agent', (ctx) => {
  ctx.set('Content-Type', 'text/plain; charset=utf-8');
  ctx.body = 'a reply of ordinary length';
});

const app = new Koa();
app.use(router.routes());
const server = app.listen(0, '127.0.0.1');

servePart(async () => ({ port: (server.address() as AddressInfo).port }));
