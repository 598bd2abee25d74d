import { DefinitionError } from './definition-error.ts'
import type { ErrorPlace, Settings } from './request/scope.ts'
import type { ServerDefinition } from './server-definition.ts'

/** The parts of a definition that hold for every request, with what is absent filled in. */
export function settingsOf(definition: ServerDefinition): Settings {
  const { onError, describeError, messagesPerSecond = 100, now } = definition
  if (!Number.isSafeInteger(messagesPerSecond) || messagesPerSecond < 0) {
    const reason = `messagesPerSecond is ${messagesPerSecond}; write a whole number from 0`
    throw new DefinitionError('value', 'server', { reason })
  }
  return {
    onError: onError ?? ignore,
    describeError: describeError ?? messageOf,
    messagesPerSecond,
    now: now ?? (() => performance.now()),
  }
}

function ignore(): void {}

/** The message is written to be read; the stack and the cause tell of the server's inside, and stay there. */
function messageOf(error: unknown, { name }: ErrorPlace): string {
  return error instanceof Error && error.message !== '' ? error.message : `Tool ${JSON.stringify(name ?? '')} failed`
}
