import * as z from 'zod'
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
import { jsonValue } from './json.zod.ts'
import { requestId } from './request-id.zod.ts'
import type { RpcError, WireError } from './rpc.ts'

function errorOf<C extends number>(code: C): z.ZodType<WireError & { readonly code: C }> {
  return z.looseObject({ code: z.literal(code), message: z.string(), data: jsonValue.optional() })
}

function errorResponseOf<E extends WireError>(error: z.ZodType<E>): z.ZodType<RpcError & { readonly error: E }> {
  return z.looseObject({ jsonrpc: z.literal('2.0'), id: requestId.optional(), error })
}

/** Validates a {@link ParseError}. */
export const parseError: z.ZodType<ParseError> = errorOf(-32700)

/** Validates an {@link InvalidRequestError}. */
export const invalidRequestError: z.ZodType<InvalidRequestError> = errorOf(-32600)

/** Validates a {@link MethodNotFoundError}. */
export const methodNotFoundError: z.ZodType<MethodNotFoundError> = errorOf(-32601)

/** Validates an {@link InvalidParamsError}. */
export const invalidParamsError: z.ZodType<InvalidParamsError> = errorOf(-32602)

/** Validates an {@link InternalError}. */
export const internalError: z.ZodType<InternalError> = errorOf(-32603)

/** Validates a {@link HeaderMismatchError}. */
export const headerMismatchError: z.ZodType<HeaderMismatchError> = errorResponseOf(errorOf(-32020))

/** Validates a {@link MissingRequiredClientCapabilityError}. */
export const missingRequiredClientCapabilityError: z.ZodType<MissingRequiredClientCapabilityError> = errorResponseOf(
  z.looseObject({
    code: z.literal(-32021),
    message: z.string(),
    data: z.object({ requiredCapabilities: clientCapabilities }).catchall(jsonValue),
  }),
)

/** Validates an {@link UnsupportedProtocolVersionError}. */
export const unsupportedProtocolVersionError: z.ZodType<UnsupportedProtocolVersionError> = errorResponseOf(
  z.looseObject({
    code: z.literal(-32022),
    message: z.string(),
    data: z.object({ requested: z.string(), supported: z.array(z.string()) }).catchall(jsonValue),
  }),
)
