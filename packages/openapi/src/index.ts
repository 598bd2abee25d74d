/**
 * Tools from an OpenAPI document.
 *
 * @module @x/openapi
 */

export { describeOpenApi, openApiTools, type PlannedOperation } from './open-api-tools.ts'
export { isOpenApiError, OpenApiError, type OpenApiErrorCode } from './open-api-error.ts'
export type { ApiCredential, OpenApiOperation, OpenApiOptions } from './options.ts'
export type { SchemaCut } from './assemble-schema.ts'
