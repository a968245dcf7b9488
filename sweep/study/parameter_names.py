"""Names of all parameters of all models, for editors that complete them; `tests/sweep/study/test_builder.py` holds them up to date."""

from __future__ import annotations

from typing import Any, TypedDict


class Parameters(TypedDict, total=False):
    """Parameter -> its value, or what it is swept over; see `Study`. The comments are units."""

    m: Any  # kg
    g: Any  # m/s^2
    k: Any  # N/m
    c: Any  # N s/m
    x0: Any  # m
    v0: Any  # m/s
    mu: Any
    mu_s: Any
    mu_d: Any
    normal_force: Any  # N
    normal_amplitude: Any  # N
    normal_omega: Any  # rad/s
    normal_phase: Any  # rad
    friction_sides: Any
    stribeck_speed: Any  # m/s
    stribeck_exponent: Any
    belt_speed: Any  # m/s
    k_t: Any  # N/m
    c_t: Any  # N s/m
    bristle_stiffness: Any  # N/m
    bristle_damping: Any  # N s/m
    viscous_friction: Any  # N s/m
    dahl_stiffness: Any  # N/m
    dahl_exponent: Any
    spring_displacement: Any  # m
    spring_force: Any  # N
    damper_velocity: Any  # m/s
    damper_force: Any  # N
    maxwell_stiffness: Any  # N/m
    maxwell_damping: Any  # N s/m
    hardening_displacement: Any  # m
    hardening_force: Any  # N
    maxwell_exponent: Any
    a0: Any  # m/s^2
    omega: Any  # rad/s
    phase: Any  # rad
    f0: Any  # N
    load: Any  # N
    sweep_rate: Any  # rad/s^2
    tone_a0: Any  # m/s^2
    tone_omega: Any  # rad/s
    tone_phase: Any  # rad
    record: Any
    record_scale: Any
    table_time: Any  # s
    table_force: Any  # N
    table_scale: Any
    pulse: Any
    pulse_start: Any  # s
    pulse_duration: Any  # s
    pulse_f0: Any  # N
    pulse_a0: Any  # m/s^2
    service_time: Any  # s
    archard_k: Any  # 1/Pa
    contact_area: Any  # m^2
    edf_a: Any  # m^3/s
    edf_b: Any
    edf_n: Any  # 1/s
    edf_s: Any  # m^3/s
    end: Any  # s
    step: Any  # s
    largest_step: Any  # s
    smallest_step: Any  # s
    tolerance: Any
    retries: Any
    window_start: Any  # s
    window_end: Any  # s
    k_n: Any  # N/m
    c_n: Any  # N s/m
    gap: Any  # m
    m_2: Any  # kg
    x0_2: Any  # m
    v0_2: Any  # m/s
    sides: Any
    f_crit: Any  # N
    f_post: Any  # N
    plateau: Any  # m
    softening: Any  # m
    k_post: Any  # N/m
    post_set: Any  # m
    post_stiffness: Any  # N/m
    c_buckled: Any  # N s/m
    post_damping: Any  # N s/m
    damping_criterion: Any
    left_k_n: Any  # N/m
    left_c_n: Any  # N s/m
    left_gap: Any  # m
    left_f_crit: Any  # N
    left_f_post: Any  # N
    left_plateau: Any  # m
    left_softening: Any  # m
    left_k_post: Any  # N/m
    left_post_set: Any  # m
    left_post_stiffness: Any  # N/m
    left_c_buckled: Any  # N s/m
    left_post_damping: Any  # N s/m
    left_damping_criterion: Any
