// Renders the OpenAPI document: every operation with its request and its answers.
import { language, t } from '../../lib/i18n.js';
import { useLoad } from '../../lib/load.js';
import { API_STATUSES, API_SUMMARIES, API_TAGS } from '../../locales/api.zh-CN.js';
import { Tag } from '../../ui/basics.js';
import { SmallTable } from '../../ui/small-table.js';
import { WhenLoaded } from '../../ui/states.js';

type Schema = Readonly<Record<string, unknown>>;
interface Media {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  readonly requestBody?: Media;
  readonly responses: Readonly<Record<string, Media & { readonly description: string }>>;
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly name: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** Returns the Chinese text of `key` when the reader reads Chinese, otherwise the document's own English text. */
function inChinese(texts: Readonly<Record<string, string>>, key: string, english: string): string {
  return language.get() === 'zh-CN' ? (texts[key] ?? english) : english;
}

const ADDRESS = '/api/v1/openapi.json';

export function ApiDocument() {
  const loaded = useLoad('getOpenApi', {});
  const { data } = loaded;
  if (!data) return <WhenLoaded of={loaded} rows={12} />;
  const document = data as unknown as Document;
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  return (
    <div class="stack api-document">
      <p class="soft">
        {t('api.text')}
        <a href={ADDRESS}>openapi.json</a>
      </p>
      {document.tags.map((tag) => (
        <section key={tag.name} class="card">
          <h2>{inChinese(API_TAGS, tag.name, tag.name)}</h2>
          {operations
            .filter((one) => one.operation.tags.includes(tag.name))
            .map((one) => (
              <OperationView key={one.operation.operationId} {...one} schemas={document.components.schemas} />
            ))}
        </section>
      ))}
    </div>
  );
}

interface ViewProps {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
  readonly schemas: Readonly<Record<string, Schema>>;
}

function OperationView({ path, method, operation, schemas }: ViewProps) {
  const scope = operation.security.flatMap((one) => one['token'] ?? [])[0];
  const body = Object.entries(operation.requestBody?.content ?? {});
  return (
    <details>
      <summary>
        <code class={`method ${method.toLowerCase()}`}>{method}</code> <code>{path}</code>{' '}
        <span class="soft">
          {inChinese(API_SUMMARIES, operation.operationId, operation.summary).replaceAll('`', '')}
        </span>
      </summary>
      <div class="stack">
        {scope !== undefined && (
          <p class="soft">
            {t('api.scope')} <Tag>{scope}</Tag>
          </p>
        )}
        {operation.parameters && (
          <SmallTable
            rows={operation.parameters}
            id={(one) => `${one.in}${one.name}`}
            columns={[
              ['', (one) => <code>{one.name}</code>],
              ['', (one) => one.in, 'soft'],
              ['', (one) => <code class="break">{typeText(one.schema)}</code>],
            ]}
          />
        )}
        {body.map(([type, media]) => (
          <Shape key={type} title={t('api.body', { type })} schema={media.schema} schemas={schemas} />
        ))}
        {Object.entries(operation.responses)
          .filter(([status]) => status.startsWith('2'))
          .map(([status, answer]) => (
            <Shape
              key={status}
              title={`${status} ${inChinese(API_STATUSES, status, answer.description)}`}
              schema={Object.values(answer.content ?? {})[0]?.schema}
              schemas={schemas}
            />
          ))}
      </div>
    </details>
  );
}

interface ShapeProps extends Pick<ViewProps, 'schemas'> {
  readonly title: string;
  readonly schema: Schema | undefined;
}

function Shape({ title, schema, schemas }: ShapeProps) {
  const resolved = schema && typeof schema['$ref'] === 'string' ? schemas[refName(schema['$ref'])] : schema;
  const properties = Object.entries((resolved?.['properties'] ?? {}) as Record<string, Schema>);
  const required = new Set((resolved?.['required'] ?? []) as string[]);
  return (
    <div>
      <h3>{title}</h3>
      {schema && <code>{typeText(schema)}</code>}
      {properties.length > 0 && (
        <SmallTable
          rows={properties}
          id={([name]) => name}
          columns={[
            ['', ([name]) => [<code>{name}</code>, !required.has(name) && <span class="soft"> ?</span>]],
            ['', ([, property]) => <code class="break">{typeText(property)}</code>],
          ]}
        />
      )}
    </div>
  );
}

const refName = (ref: string) => ref.split('/').at(-1) ?? ref;

/** Names a schema in a few words: `Account`, `string | null`, `Token[]`. */
function typeText(schema: Schema): string {
  if (typeof schema['$ref'] === 'string') return refName(schema['$ref']);
  if (Array.isArray(schema['enum'])) return schema['enum'].map((one) => JSON.stringify(one)).join(' | ');
  if ('const' in schema) return JSON.stringify(schema['const']);
  const union = (schema['anyOf'] ?? schema['oneOf']) as Schema[] | undefined;
  if (union) return union.map(typeText).join(' | ');
  if (schema['type'] === 'array') return `${typeText((schema['items'] ?? {}) as Schema)}[]`;
  if (schema['type'] === 'object' && schema['properties']) {
    return `{ ${Object.keys(schema['properties'] as Schema).join(', ')} }`;
  }
  return String(schema['format'] ?? schema['type'] ?? 'any');
}
