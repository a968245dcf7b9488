// Scheme euler in lockstep: rubbing masses with penalised friction under one sine, at fixed steps that all of them share.
//
// The formulas are those of kernels/stepping (lockstep.py, euler.py, observe_friction.py) and kernels/contact (penalised.py, grip.py). While
// the contact of a mass goes on as it is, holding or slipping, a step is arithmetic without a choice. Each step checks that, and only where
// the check fails the law of friction is evaluated: two to four times in a period. What a lane computes never depends on another lane.
#pragma once
#include <algorithm>
#include <cmath>

#include "vectors.h"

namespace euler {

enum Parameter {
  STEPS, LENGTH, FIRST, LAST, WINDOW_START, WINDOW_END,  // see `Pace`
  MASS, X0, V0, STATIC_LIMIT, DYNAMIC_FORCE, AMPLITUDE, OMEGA, PHASE, LOAD, K_T, C_T, K, C
};
enum Sum { DISTANCE, DRIFT, STUCK_TIME, TOP_SPEED, PHASES, STOPS, X_END, V_END };
constexpr int PARAMETERS = C + 1, SUMS = V_END + 1;

const double SLIP_SPEED_FLOOR = 1e-6, BRIEFLY = 0x1p-100, UNMOVED = 0x1p-120;  // of penalised.py and grip.py
constexpr int GROUP = 2;  // vectors side by side, so that one computes while the other waits for its last result

// Number and length of the steps, the steps in which the window begins and ends, and the window's ends, in steps.
struct Pace {
  double steps, h, first, last, window_start, window_end;
};

// LANES oscillators.
struct Masses {
  Vector x, v, spring, force;  // displacement from x0, velocity, force of the contact's spring (of friction where it slips), all forces
  Vector sine, change;         // force of the sine, and its change in the next step
  Vector slip_state;           // see grip.py
  Vector slip, slowest;        // direction of the slip and its least speed, to go on; 0 and -infinity where the contact holds
  Vector spring_by_v, friction_by_v, limit;  // what v takes from the spring and from friction in a step, and the largest friction, of a
                                             // contact that holds; 0, 0 and infinity where it slips
  Vector force_by_v;                         // what v takes from all forces in a step
  Vector distance, drift, stuck, top, phases, stops, slips, begun;  // sums over the window; slips: whole steps; begun: first one of this slip
  Vector by_mass, quick, turn, load, k, c, k_t, c_t, static_limit, dynamic_force;  // constants; quick: h / m; turn: 2 (1 - cos(omega h))
};

INLINE Mask slipping(const Masses& o) { return less(all(0.5), absolute(o.slip_state)); }
INLINE Mask resting(Vector slip_state) { return equal(slip_state, Vector{}); }
INLINE Mask begins(Vector after, Vector before) { return less(all(0.5), after * (after - (2.0 / BRIEFLY) * before)); }
INLINE Vector plus_one(Mask m, Vector count) { return choose(m, count + 1.0, count); }

template <bool FREE>
INLINE Vector total(const Masses& o, Vector sine, Vector friction, Vector x, Vector v) {
  Vector external = sine + o.load;
  return FREE ? friction + external : friction + (external - (o.k * x + o.c * v));
}

// The law of friction at the end of a step, in some lanes: friction there. `spring`: its force if the contact held in the step.
template <bool FREE>
INLINE Vector evaluate(Masses& o, Mask lanes, Vector spring, Vector x, Vector v, double h) {
  Vector none{}, old = o.slip_state, trial = spring - o.c_t * v, needed = o.sine + o.load;
  if (!FREE) needed = needed - o.k * x;
  Mask sticks = no(less(all(SLIP_SPEED_FLOOR), old * v)) & at_most(absolute(trial), o.static_limit);
  Vector held = choose(slipping(o), choose(at_most(absolute(needed), o.static_limit), none, BRIEFLY * old), old);
  o.slip_state = choose(lanes, choose(sticks, held, unit(v - BRIEFLY * trial)), old);
  Mask slips = slipping(o);
  Vector sliding = -o.dynamic_force * o.slip_state;
  o.spring = choose(lanes, choose(slips, sliding, spring), o.spring);
  o.slip = choose(slips, o.slip_state, none), o.slowest = choose(slips, all(SLIP_SPEED_FLOOR), all(-INFINITY));
  o.spring_by_v = choose(slips, none, h * o.k_t), o.friction_by_v = choose(slips, none, h * o.k_t + o.c_t);
  o.limit = choose(slips, all(INFINITY), o.static_limit), o.force_by_v = o.friction_by_v + (o.c + h * o.k);
  return choose(slips, sliding, trial);
}

// Friction after a step that ends with another contact in some lanes; there `o.spring` is that of the begin of the step if it slipped then.
template <bool FREE, bool INSIDE>
__attribute__((noinline)) Vector turn_contact(Masses& o, Mask lanes, double number, Vector x, Vector v, Vector friction, double h) {
  Vector old = o.slip_state;
  Mask before = slipping(o);
  Vector spring = choose(before, o.spring - h * o.k_t * v, o.spring);
  friction = choose(lanes, evaluate<FREE>(o, lanes, spring, x, v, h), friction);
  if (INSIDE) {
    Mask slips = slipping(o);
    o.phases = plus_one(lanes & begins(o.slip_state, old), o.phases);
    o.stops = plus_one(lanes & resting(o.slip_state) & no(resting(old)), o.stops);
    o.slips = choose(lanes & before & no(slips), o.slips + (number - o.begun), o.slips);
    o.begun = choose(lanes & slips & no(before), all(number), o.begun);
  }
  return friction;
}

// Steps first, first + 1, ..., last - 1, all of them INSIDE the window, or all outside.
template <bool FREE, bool INSIDE>
static void stretch(Masses* o, long first, long last, double h) {
  if (last <= first) return;
  Vector x[GROUP], v[GROUP], spring[GROUP], sine[GROUP], change[GROUP], force[GROUP], way[GROUP], top[GROUP];
  for (int j = 0; j < GROUP; ++j) {
    x[j] = o[j].x, v[j] = o[j].v, spring[j] = o[j].spring, sine[j] = o[j].sine, change[j] = o[j].change, force[j] = o[j].force;
    way[j] = Vector{}, top[j] = o[j].top, o[j].begun = all((double)first);
  }
  for (long number = first; number < last; ++number) {
    Vector friction[GROUP], along[GROUP];
    Mask goes_on[GROUP];
#pragma GCC unroll 8
    for (int j = 0; j < GROUP; ++j) {
      v[j] = v[j] + o[j].quick * force[j];
      sine[j] = sine[j] + change[j];
      // Few operations on v lie between one v and the next: friction is not taken from the new spring, nor k x from the new x.
      force[j] = sine[j] + o[j].load;
      if (!FREE) force[j] = (force[j] - o[j].k * x[j] + spring[j]) - o[j].force_by_v * v[j];
      x[j] = x[j] + h * v[j];
      change[j] = change[j] - o[j].turn * sine[j];
      friction[j] = spring[j] - o[j].friction_by_v * v[j];
      if (FREE) force[j] = friction[j] + force[j];
      spring[j] = spring[j] - o[j].spring_by_v * v[j];
      along[j] = o[j].slip * v[j];
      goes_on[j] = less(o[j].slowest, along[j]) & at_most(absolute(friction[j]), o[j].limit);
    }
    Mask every = goes_on[0];
#pragma GCC unroll 8
    for (int j = 1; j < GROUP; ++j) every = every & goes_on[j];
    if (__builtin_expect(!everywhere(every), 0)) {
#pragma GCC unroll 8
      for (int j = 0; j < GROUP; ++j)
        if (!everywhere(goes_on[j])) {
          o[j].spring = spring[j], o[j].sine = sine[j];
          friction[j] = turn_contact<FREE, INSIDE>(o[j], no(goes_on[j]), (double)number, x[j], v[j], friction[j], h);
          spring[j] = o[j].spring, along[j] = o[j].slip * v[j];
          force[j] = choose(goes_on[j], force[j], total<FREE>(o[j], sine[j], friction[j], x[j], v[j]));
        }
    }
    if (INSIDE) {
#pragma GCC unroll 8
      for (int j = 0; j < GROUP; ++j) way[j] = way[j] + along[j], top[j] = larger(top[j], along[j]);
    }
  }
  for (int j = 0; j < GROUP; ++j) {
    if (INSIDE) {
      o[j].drift = o[j].drift + (x[j] - o[j].x), o[j].distance = o[j].distance + h * way[j], o[j].top = top[j];
      o[j].slips = choose(slipping(o[j]), o[j].slips + ((double)last - o[j].begun), o[j].slips);
    }
    o[j].x = x[j], o[j].v = v[j], o[j].spring = spring[j], o[j].sine = sine[j], o[j].change = change[j], o[j].force = force[j];
  }
}

// One step, of which a part may lie in the window.
template <bool FREE>
static void single(Masses& o, const Pace& pace, double number) {
  double h = pace.h;
  double from = std::min(std::max(pace.window_start - number, 0.0), 1.0), to = std::min(std::max(pace.window_end - number, 0.0), 1.0);
  Vector v = o.v, old = o.slip_state, none{};
  o.v = v + o.quick * o.force;
  Vector moved = h * o.v;
  o.x = o.x + moved, o.sine = o.sine + o.change, o.change = o.change - o.turn * o.sine;
  Vector friction = evaluate<FREE>(o, equal(none, none), o.spring - o.k_t * moved, o.x, o.v, h);
  o.force = total<FREE>(o, o.sine, friction, o.x, o.v);
  if (to <= from) return;
  auto at = [&](double part) { return part * (moved + (1.0 - part) * ((1.0 - part) * (h * v - moved) - part * (h * o.v - moved))); };
  Vector inside = at(to) - at(from);
  Mask slips = slipping(o), rests = resting(o.slip_state) & (no(resting(old)) | equal(o.stops, none));
  o.drift = o.drift + inside, o.distance = choose(slips, o.distance + absolute(inside), o.distance);
  o.stuck = choose(slips, o.stuck, o.stuck + h * (to - from)), o.top = choose(slips, larger(o.top, absolute(o.v)), o.top);
  o.phases = plus_one(slips & (begins(o.slip_state, old) | equal(o.phases, none)), o.phases), o.stops = plus_one(rests, o.stops);
}

// Rows row, row + 1, ... of `rows`, as many as are side by side.
template <bool FREE>
static void run(const double* const* parameters, double* const* sums, long row, long rows, const Pace& pace) {
  Masses o[GROUP];
  for (int j = 0; j < GROUP; ++j) {
    auto each = [&](auto value) {  // places beyond the last row repeat it
      Vector found{};
      for (int lane = 0; lane < LANES; ++lane) found[lane] = value(std::min(row + j * LANES + lane, rows - 1));
      return found;
    };
    auto of = [&](Parameter name) { return each([&](long i) { return parameters[name][i]; }); };
    Masses& one = o[j];
    one = Masses{};
    one.by_mass = 1.0 / of(MASS), one.quick = pace.h * one.by_mass, one.v = of(V0), one.k = of(K), one.c = of(C);
    one.k_t = of(K_T), one.c_t = of(C_T), one.static_limit = of(STATIC_LIMIT), one.dynamic_force = of(DYNAMIC_FORCE);
    one.load = FREE ? of(LOAD) : of(LOAD) - one.k * of(X0);
    auto amplitude = parameters[AMPLITUDE], omega = parameters[OMEGA], phase = parameters[PHASE];
    auto versine = [&](long i) { return 2.0 * std::sin(0.5 * omega[i] * pace.h) * std::sin(0.5 * omega[i] * pace.h); };
    one.turn = each([&](long i) { return 2.0 * versine(i); });
    one.sine = each([&](long i) { return amplitude[i] * std::sin(phase[i]); });
    one.change = each([&](long i) {
      return amplitude[i] * (std::cos(phase[i]) * std::sin(omega[i] * pace.h) - std::sin(phase[i]) * versine(i));
    });
    Vector none{};
    Mask still = equal(one.v, none);
    one.slip_state = choose(still, all(UNMOVED), unit(one.v));
    one.spring = choose(still, none, -one.dynamic_force * unit(one.v));
    Vector friction = evaluate<FREE>(one, equal(none, none), one.spring, none, one.v, pace.h);
    one.force = total<FREE>(one, one.sine, friction, none, one.v);
  }
  const double first = pace.first, last = pace.last;
  stretch<FREE, false>(o, 0, (long)first, pace.h);
  for (Masses& one : o) {
    if (first < pace.steps) single<FREE>(one, pace, first);
    Mask uncounted = no(slipping(one)) & no(resting(one.slip_state)) & equal(one.phases, Vector{});
    one.slip_state = choose(uncounted, all(UNMOVED), one.slip_state);  // a slip that is not counted yet begins anew when it goes on
  }
  if (last > first) {
    stretch<FREE, true>(o, (long)first + 1, (long)last, pace.h);
    for (Masses& one : o) {
      one.stuck = one.stuck + ((last - first - 1.0) - one.slips) * pace.h;
      if (last < pace.steps) single<FREE>(one, pace, last);
    }
  }
  stretch<FREE, false>(o, (long)last + 1, (long)pace.steps, pace.h);
  for (int j = 0; j < GROUP; ++j)
    for (int lane = 0; lane < LANES; ++lane) {
      long i = row + j * LANES + lane;
      if (i >= rows) return;
      auto store = [&](Sum name, Vector value) { sums[name][i] = value[lane]; };
      store(DISTANCE, o[j].distance), store(DRIFT, o[j].drift), store(STUCK_TIME, o[j].stuck), store(TOP_SPEED, o[j].top);
      store(PHASES, o[j].phases), store(STOPS, o[j].stops), store(V_END, o[j].v), sums[X_END][i] = parameters[X0][i] + o[j].x[lane];
    }
}

// Runs `rows` oscillators, given columns in the order of `Parameter`; those of `Pace` are read from row 0. FREE: k = c = 0.
template <bool FREE>
static void run_all(const double* const* parameters, double* const* sums, long rows) {
  auto common = [&](Parameter name) { return parameters[name][0]; };
  Pace pace{common(STEPS), common(LENGTH), common(FIRST), common(LAST), common(WINDOW_START), common(WINDOW_END)};
  for (long row = 0; row < rows; row += GROUP * LANES) run<FREE>(parameters, sums, row, rows, pace);
}

}  // namespace euler
