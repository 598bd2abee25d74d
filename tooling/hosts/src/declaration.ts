import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

/** What a host says about itself in its first messages. */
export interface Declaration {
  /** The methods of its first messages, in order. */
  readonly begins: readonly string[]
  readonly revision: string
  readonly clientInfo: JsonObject
  readonly capabilities: JsonObject
}

/** Reads the declaration of a host from the messages that it sent over HTTP. */
export function declarationIn(messages: readonly JsonObject[]): Declaration {
  const methods = new Set(messages.map(({ method }) => String(method)))
  const begins = [...methods].filter((method) => /^(server\/discover|initialize|subscriptions\/listen)$/.test(method))
  const list = objectOf(objectOf(messages.find(({ method }) => method === 'tools/list')?.['params'])['_meta'])
  const initialize = objectOf(messages.find(({ method }) => method === 'initialize')?.['params'])
  const current = 'io.modelcontextprotocol/'
  const isCurrent = list[`${current}protocolVersion`] !== undefined
  return {
    begins,
    revision: String(isCurrent ? list[`${current}protocolVersion`] : initialize['protocolVersion']),
    clientInfo: objectOf(isCurrent ? list[`${current}clientInfo`] : initialize['clientInfo']),
    capabilities: objectOf(isCurrent ? list[`${current}clientCapabilities`] : initialize['capabilities']),
  }
}

const objectOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {})
