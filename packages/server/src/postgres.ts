/**
 * The change bus over PostgreSQL of `@x/core`.
 *
 * @module @x/server/postgres
 */

export {
  BusError,
  type BusErrorCode,
  type Change,
  type ChangeBus,
  type ChangeListener,
  isBusError,
  type PostgresBusOptions,
  type PostgresConnection,
  type PostgresNotification,
  type PostgresPool,
  type PostgresQuery,
  postgresBus,
  type NetworkBus,
  type NetworkBusOptions,
} from '@x/core/postgres'
