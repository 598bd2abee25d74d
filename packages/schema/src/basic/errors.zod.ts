import * as z from 'zod/mini'
import { clientCapabilities } from './capabilities.zod.ts'
import type {
  HeaderMismatchError,
  InternalError,
  InvalidParamsError,
  InvalidRequestError,
  MethodNotFoundError,
  MissingRequiredClientCapabilityError,
  ParseError,
  UnsupportedProtocolVersionError,
} from './errors.ts'
import { jsonValue, requestId } from './json.zod.ts'
import type { RpcError, WireError } from './rpc.ts'

function parseErrorObject<C extends number>(code: C): z.ZodMiniType<WireError & { readonly code: C }> {
  return z.looseObject({ code: z.literal(code), message: z.string(), data: z.optional(jsonValue) })
}

function errorResponseValidator<E extends WireError>(
  error: z.ZodMiniType<E>,
): z.ZodMiniType<RpcError & { readonly error: E }> {
  return z.looseObject({ jsonrpc: z.literal('2.0'), id: z.optional(requestId), error })
}

/** Validates a {@link ParseError}. */
export const parseError: z.ZodMiniType<ParseError> = parseErrorObject(-32700)

/** Validates an {@link InvalidRequestError}. */
export const invalidRequestError: z.ZodMiniType<InvalidRequestError> = parseErrorObject(-32600)

/** Validates a {@link MethodNotFoundError}. */
export const methodNotFoundError: z.ZodMiniType<MethodNotFoundError> = parseErrorObject(-32601)

/** Validates an {@link InvalidParamsError}. */
export const invalidParamsError: z.ZodMiniType<InvalidParamsError> = parseErrorObject(-32602)

/** Validates an {@link InternalError}. */
export const internalError: z.ZodMiniType<InternalError> = parseErrorObject(-32603)

/** Validates a {@link HeaderMismatchError}. */
export const headerMismatchError: z.ZodMiniType<HeaderMismatchError> = errorResponseValidator(parseErrorObject(-32020))

/** Validates a {@link MissingRequiredClientCapabilityError}. */
export const missingRequiredClientCapabilityError: z.ZodMiniType<MissingRequiredClientCapabilityError> =
  errorResponseValidator(
    z.looseObject({
      code: z.literal(-32021),
      message: z.string(),
      data: z.catchall(z.object({ requiredCapabilities: clientCapabilities }), jsonValue),
    }),
  )

/** Validates an {@link UnsupportedProtocolVersionError}. */
export const unsupportedProtocolVersionError: z.ZodMiniType<UnsupportedProtocolVersionError> = errorResponseValidator(
  z.looseObject({
    code: z.literal(-32022),
    message: z.string(),
    data: z.catchall(z.object({ requested: z.string(), supported: z.array(z.string()) }), jsonValue),
  }),
)
