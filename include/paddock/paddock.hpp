/* SPDX-License-Identifier: Apache-2.0 */
/* Paddock for C++17 and later: move-only objects over the C interface, which has all the rules.
 *
 *     paddock::session ── lock, rwlock, semaphore, election ── claim ── hold
 *
 * An object that is destroyed gives back what it owns: a hold is released, a session is closed in
 * the background, a recipe object cancels its claims. A moved-from object is empty: calls on it
 * answer PDK_INVALID, and its destructor does nothing.
 *
 * Failures: a call returns a result<T>, which has the value, or the status and the text. With
 * PADDOCK_EXCEPTIONS defined it returns the T, and throws a paddock::error. Both may be linked into
 * one program. A callback must not throw: the program ends (std::terminate).
 *
 * Time: any std::chrono::duration, rounded up to milliseconds, or paddock::forever. A negative one
 * is a time that has passed: it counts as zero, which is a try.
 *
 * Cancellation: a call that blocks for a hold takes a stop token: std::stop_token in C++20, and
 * paddock::stop_token from a paddock::stop_source in both. It uses the interrupt of the thread
 * (interrupt.h), which must not have one of its own meanwhile.
 *
 * The headers are all of it: there is no library beside the C library. get() gives the C handle,
 * for calls that have no wrapper here.
 */
#ifndef PADDOCK_PADDOCK_HPP
#define PADDOCK_PADDOCK_HPP

#include <paddock/cxx/claim.hpp>
#include <paddock/cxx/hold.hpp>
#include <paddock/cxx/recipes.hpp>
#include <paddock/cxx/result.hpp>
#include <paddock/cxx/session.hpp>
#include <paddock/cxx/stop.hpp>
#include <paddock/cxx/time.hpp>
#include <paddock/paddock.h>

#endif
