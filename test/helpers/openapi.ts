// The OpenAPI document, built once in a process: that takes a third of a second.
import { buildOpenApi } from '../../src/http/v1/openapi.js';

let built: ReturnType<typeof buildOpenApi> | null = null;

export function openApi(): ReturnType<typeof buildOpenApi> {
  built ??= buildOpenApi();
  return built;
}
