import type {
  ClientCapabilities,
  CreateMessageRequestParams,
  CreateMessageResult,
  ElicitRequestFormParams,
  ElicitRequestURLParams,
  ElicitResult,
  Root,
} from '@x/schema'

/** A value or a promise of it. */
export type Awaitable<T> = T | Promise<T>

/**
 * The user's answer to a question. Absent fields of the content get the defaults of the schema. A field with the value
 * `undefined` stays empty (client/elicitation, response actions).
 */
export interface ElicitAnswer {
  readonly action: ElicitResult['action']
  /** The values of the form. They are sent only if the action is `accept`. */
  readonly content?: { readonly [field: string]: string | number | boolean | readonly string[] | undefined } | undefined
}

/** The question that a handler answers, and its call. */
export interface InputContext {
  /** The key that the server gave this question within the round. */
  readonly key: string
  /** The method of the waiting call. */
  readonly method: string
  /** The tool, prompt or resource of the waiting call. */
  readonly target: string | undefined
  /** The number of the response that contained the question: 1 for the first response of the call. */
  readonly round: number
  /** Aborts when the answer is no longer needed. The handler should then close its dialog. */
  readonly signal: AbortSignal
  /** The unverified name of the server and its address. Show them to the user. */
  readonly server?: string | undefined
}

/**
 * Handlers of the questions that servers ask during a call (basic/patterns/mrtr). Each handler makes the client declare
 * the capability for it. All handlers of one round are called at once. An error that a handler throws fails the call.
 */
export interface InputHandlers {
  /** Shows a form, and declares `elicitation.form` (client/elicitation, form mode). */
  readonly elicit?: ((question: ElicitRequestFormParams, context: InputContext) => Awaitable<ElicitAnswer>) | undefined
  /**
   * Shows a URL in full, and opens it outside this program after the user agrees. Declares `elicitation.url`. The
   * client has checked that the URL is `https:`, or `http:` of this machine, contains no credentials, and has an ASCII
   * host (Punycode). The handler must never fetch the URL itself (client/elicitation, safe URL handling).
   */
  readonly openUrl?: ((question: ElicitRequestURLParams, context: InputContext) => Awaitable<ElicitAnswer>) | undefined
  /** Samples a model, and declares `sampling` (client/sampling). Deprecated by the specification. */
  readonly sample?:
    | ((params: CreateMessageRequestParams, context: InputContext) => Awaitable<CreateMessageResult>)
    | undefined
  /**
   * Lists the roots, and declares `roots` (client/roots). Deprecated by the specification. A server of an earlier
   * revision may ask outside of a call: `method` is then `initialize`, and `round` is 0.
   */
  readonly roots?: ((context: InputContext) => Awaitable<readonly Root[]>) | undefined
}

/**
 * Returns the capabilities of one call: those in the options of the client and of the call, and those of the handlers
 * of both.
 */
export function declaredCapabilities(
  clientOptions: InputHandlers & CapabilityOptions,
  callOptions: InputHandlers & CapabilityOptions,
): ClientCapabilities {
  return withHandlerCapabilities(
    mergeClientCapabilities(clientOptions.capabilities ?? {}, callOptions.capabilities),
    mergeHandlers(clientOptions, callOptions),
  )
}

interface CapabilityOptions {
  readonly capabilities?: ClientCapabilities | undefined
}

function mergeClientCapabilities(
  clientCapabilities: ClientCapabilities,
  callCapabilities: ClientCapabilities = {},
): ClientCapabilities {
  const { extensions, experimental, ...otherCapabilities } = callCapabilities
  return {
    ...clientCapabilities,
    ...otherCapabilities,
    ...(extensions && { extensions: { ...clientCapabilities.extensions, ...extensions } }),
    ...(experimental && { experimental: { ...clientCapabilities.experimental, ...experimental } }),
  }
}

/** Adds the capabilities of the handlers to those that are declared explicitly. */
function withHandlerCapabilities(declaration: ClientCapabilities, handlers: InputHandlers): ClientCapabilities {
  const { elicit, openUrl, sample, roots } = handlers
  return {
    ...declaration,
    ...((elicit || openUrl) && { elicitation: elicitationModesOf(declaration.elicitation, handlers) }),
    ...(sample && { sampling: declaration.sampling ?? {} }),
    ...(roots && { roots: declaration.roots ?? {} }),
  }
}

type ElicitationCapability = NonNullable<ClientCapabilities['elicitation']>

function elicitationModesOf(
  declaration: ElicitationCapability | undefined,
  { elicit, openUrl }: InputHandlers,
): ElicitationCapability {
  // The capability `elicitation` without modes means forms. When the mode `url` is added for a handler, the mode `form`
  // must be added too, to keep that meaning.
  const impliesForm = declaration !== undefined && declaration.form === undefined && declaration.url === undefined
  return {
    ...declaration,
    ...((elicit || impliesForm) && { form: declaration?.form ?? {} }),
    ...(openUrl && { url: declaration?.url ?? {} }),
  }
}

/** Returns the handlers for one call. Handlers of the call replace those of the client. */
export function mergeHandlers(clientHandlers: InputHandlers, callHandlers: InputHandlers): InputHandlers {
  return {
    elicit: callHandlers.elicit ?? clientHandlers.elicit,
    openUrl: callHandlers.openUrl ?? clientHandlers.openUrl,
    sample: callHandlers.sample ?? clientHandlers.sample,
    roots: callHandlers.roots ?? clientHandlers.roots,
  }
}

/**
 * Returns true if the options of a call contain handlers. The call may then declare more capabilities than its client.
 */
export function hasHandlers({ elicit, openUrl, sample, roots }: InputHandlers): boolean {
  return Boolean(elicit ?? openUrl ?? sample ?? roots)
}
